#!/bin/sh
# An MCP server over stdio with a notebook that two people write in: now and then
# saving meets somebody else's change, says so, and saves nothing. How often that
# happens to this notebook lies in the file conflicts.
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
text() { printf '{"content":[{"type":"text","text":"%s"}],"isError":%s}' "$1" "$2"; }

while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case $line in
  *'"method":"initialize"'*)
    answer "$id" '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notebook","version":"1"}}'
    ;;
  *'"method":"tools/list"'*)
    answer "$id" '{"tools":[{"name":"note_save","description":"Saves a note under its title.","inputSchema":{"type":"object","properties":{"title":{"type":"string"},"text":{"type":"string"}},"required":["title","text"]}},{"name":"note_list","description":"Lists the titles of saved notes.","inputSchema":{"type":"object"}}]}'
    ;;
  *'"method":"tools/call"'*'"note_save"'* | *'"note_save"'*'"method":"tools/call"'*)
    left=$(cat conflicts)
    if [ "$left" -gt 0 ]; then
      echo $((left - 1)) >conflicts
      answer "$id" "$(text 'Somebody else changed the notebook meanwhile.' false)"
    else
      printf '%s\n' "$line" | sed -n 's/.*"title":"\([^"]*\)".*/\1/p' >>notes
      answer "$id" "$(text 'Saved.' false)"
    fi
    ;;
  *'"method":"tools/call"'* | *'"note_list"'*)
    answer "$id" "$(text "$(tr '\n' ' ' <notes)" false)"
    ;;
  *'"id":'*)
    answer "$id" '{}'
    ;;
  esac
done
