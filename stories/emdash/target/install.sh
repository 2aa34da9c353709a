#!/bin/sh
# Installs and builds the site of site/ in .build/, and makes the database that
# trials get copies of. What is there already is kept until site/ changes.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$here/.build
wanted=$(cd "$here" && find site target/golden.mjs -type f | LC_ALL=C sort | xargs -d '\n' cat | sha256sum | cut -d' ' -f1)
if [ -f "$build/built" ] && [ "$(cat "$build/built")" = "$wanted" ]; then exit 0; fi

mkdir -p "$build"
rm -rf "$build/built" "$build/dist" "$build/golden" "$build/src" "$build/.astro"
cp -R "$here/site/." "$build/"
if ! cmp -s "$here/site/package-lock.json" "$build/installed"; then
  # Not npm ci: the lock file names an optional package for Windows alone that not
  # every registry has.
  rm -rf "$build/node_modules"
  (cd "$build" && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error)
  cp "$here/site/package-lock.json" "$build/installed"
fi
cd "$build"
export ASTRO_TELEMETRY_DISABLED=1
"$here/target/node" node_modules/astro/bin/astro.mjs build
"$here/target/node" "$here/target/golden.mjs" "$build"
echo "$wanted" > built
