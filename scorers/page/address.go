package main

import (
	"strconv"
	"strings"
)

// maxAddress is how long an address is looked at.
const maxAddress = 4096

// resolve returns the address that a link means on a page of that base address. It
// knows the parts of addresses (RFC 3986, 5.2) without package net/url, which would
// be a tenth of the module.
func resolve(base, ref string) string {
	ref = strings.TrimSpace(ref)
	if hasScheme(ref) {
		return clean(ref)
	}
	scheme, rest, ok := strings.Cut(base, "://")
	if !ok {
		return ref
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	path, _, _ = strings.Cut(path, "#")
	file, _, _ := strings.Cut(path, "?")
	origin := scheme + "://" + host
	switch {
	case strings.HasPrefix(ref, "//"):
		return clean(scheme + ":" + ref)
	case strings.HasPrefix(ref, "/"):
		return clean(origin + ref)
	case ref == "", ref[0] == '#':
		return clean(origin + path + ref)
	case ref[0] == '?':
		return clean(origin + file + ref)
	}
	return clean(origin + file[:strings.LastIndexByte(file, '/')+1] + slash(file) + ref)
}

// slash is what stands between a host and a relative path where the base has none.
func slash(file string) string {
	if strings.Contains(file, "/") {
		return ""
	}
	return "/"
}

func hasScheme(ref string) bool {
	i := strings.IndexAny(ref, ":/?#")
	return i > 0 && ref[i] == ':'
}

// clean writes scheme and host in lower case, takes dots out of the path and gives
// an address without a path the path /.
func clean(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	host, path, tail := rest, "", ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path, tail = path[:i], path[i:]
	}
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return scheme + "://" + host + withoutDots(path) + tail
}

func withoutDots(path string) string {
	if path == "" {
		return "/"
	}
	if !strings.Contains(path, "/.") {
		return path
	}
	var out []string
	parts := strings.Split(path[1:], "/")
	for i, part := range parts {
		last := i == len(parts)-1
		switch part {
		case ".", "..":
			if part == ".." && len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, part)
		}
	}
	return "/" + strings.Join(out, "/")
}

func cutAnchor(url string) (address, anchor string) {
	address, anchor, _ = strings.Cut(url, "#")
	return address, anchor
}

func withoutAnchor(url string) string {
	address, _ := cutAnchor(clean(url))
	return address
}

// unquote replaces %XX.
func unquote(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				sb.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		sb.WriteByte(s[i])
	}
	return sb.String()
}
