#!/usr/bin/env bash
# Gets the servers that the end-to-end tests talk to, into one cache folder:
#   bin/ollama            a real inference server, built from its Go module (about 5 CPU minutes)
#   aimock/node_modules   a mock of the vendors' APIs, from npm
#   mcp/node_modules      tool servers of the Model Context Protocol's own project, and its conformance
#                         suite with the Node.js 22 that it needs, from npm
#   editors/node_modules  yaml-language-server, and the protocol library of VS Code, from npm
#   webhooks/node_modules the library of Standard Webhooks, from npm
#   postgres              nothing: the tests start the PostgreSQL of the machine, on a socket of their own
#   bin/collector         the OpenTelemetry Collector, from its Go modules (about 3 CPU minutes)
#   bin/temporal          a Temporal server with SQLite, from its Go module (about 8 CPU minutes)
#   prometheus/usr        Prometheus and promtool, from Debian
#   clients/NAME          the clients of clients/NAME/package.json, from npm
# Each part is skipped when it is there already. Usage: setup.sh [ollama] [aimock] [mcp] [editors] [webhooks] [postgres] [collector] [temporal] [prometheus] [clients]   (default: all)
set -euo pipefail

ollama_version=v0.17.4
malgo_version=v0.11.24 # carries miniaudio.h, which ollama's sources include
aimock_version=1.43.0
mcp_version=2026.8.31     # of each of the tool servers; specs/mcp-files pins the same
conformance_version=0.2.0-alpha.12
node_version=22.23.3
yamlls_version=2.0.0
lspclient_version=3.18.5
webhooks_version=1.1.1

cache=${PEX_E2E_CACHE:-$HOME/.cache/pex-e2e}
mkdir -p "$cache"

need() { command -v "$1" >/dev/null || { echo "setup.sh: needs $1: $2" >&2; exit 2; }; }

header() { # header NAME DEBIAN_PACKAGE
  echo "#include <$1>" | g++ -x c++ -E - >/dev/null 2>&1 || { echo "setup.sh: needs <$1>: apt-get install $2" >&2; exit 2; }
}

ollama() {
  if [ "$(cat "$cache/bin/ollama.version" 2>/dev/null)" = "$ollama_version" ]; then return; fi
  if type -P ollama >/dev/null && [ -z "${PEX_E2E_BUILD:-}" ]; then return; fi # the machine has one
  need go "https://go.dev/dl"
  need g++ "apt-get install g++"
  header nlohmann/json.hpp nlohmann-json3-dev
  header stb/stb_image.h libstb-dev
  local src
  src=$(cd "$cache" && go mod download -json "github.com/gen2brain/malgo@$malgo_version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  mkdir -p "$cache/inc/miniaudio" "$cache/bin"
  install -m 644 "$(find "$src" -name miniaudio.h | head -1)" "$cache/inc/miniaudio/miniaudio.h"
  (cd "$cache" && GOFLAGS='' GOBIN=$cache/bin CGO_ENABLED=1 CGO_CPPFLAGS=-I$cache/inc CGO_CXXFLAGS=-O1 \
    nice -n 19 go install -p "${PEX_E2E_JOBS:-2}" "github.com/ollama/ollama@$ollama_version")
  echo "$ollama_version" >"$cache/bin/ollama.version"
}

aimock() {
  if [ "$(cat "$cache/aimock/version" 2>/dev/null)" = "$aimock_version" ]; then return; fi
  need npm "https://nodejs.org"
  mkdir -p "$cache/aimock"
  npm install --prefix "$cache/aimock" --no-audit --no-fund --no-save "@copilotkit/aimock@$aimock_version"
  echo "$aimock_version" >"$cache/aimock/version"
}

mcp() {
  local want="$mcp_version $conformance_version $node_version"
  if [ "$(cat "$cache/mcp/version" 2>/dev/null)" = "$want" ]; then return; fi
  need npm "https://nodejs.org"
  mkdir -p "$cache/mcp"
  npm install --prefix "$cache/mcp" --no-audit --no-fund --no-save \
    "@modelcontextprotocol/server-everything@$mcp_version" \
    "@modelcontextprotocol/server-filesystem@$mcp_version" \
    "@modelcontextprotocol/server-memory@$mcp_version" \
    "@modelcontextprotocol/conformance@$conformance_version" "node@$node_version"
  echo "$want" >"$cache/mcp/version"
}

editors() {
  local want="$yamlls_version $lspclient_version $node_version"
  if [ "$(cat "$cache/editors/version" 2>/dev/null)" = "$want" ]; then return; fi
  need npm "https://nodejs.org"
  mkdir -p "$cache/editors"
  npm install --prefix "$cache/editors" --no-audit --no-fund --no-save \
    "yaml-language-server@$yamlls_version" "vscode-languageserver-protocol@$lspclient_version" "node@$node_version"
  echo "$want" >"$cache/editors/version"
}

postgres() {
  compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || { echo "setup.sh: needs PostgreSQL: apt-get install postgresql" >&2; exit 2; }
}

webhooks() {
  if [ "$(cat "$cache/webhooks/version" 2>/dev/null)" = "$webhooks_version" ]; then return; fi
  need npm "https://nodejs.org"
  mkdir -p "$cache/webhooks"
  npm install --prefix "$cache/webhooks" --no-audit --no-fund --no-save "standardwebhooks@$webhooks_version"
  echo "$webhooks_version" >"$cache/webhooks/version"
}

collector() {
  local module; module=$(dirname "$0")/collector
  if cmp -s "$module/go.sum" "$cache/bin/collector.sum"; then return; fi
  need go "https://go.dev/dl"
  mkdir -p "$cache/bin"
  (cd "$module" && nice -n 19 go build -p "${PEX_E2E_JOBS:-2}" -o "$cache/bin/collector" .)
  cp "$module/go.sum" "$cache/bin/collector.sum"
}

temporal() {
  local module; module=$(dirname "$0")/temporal
  if cat "$module"/*.go "$module/go.sum" | cmp -s - "$cache/bin/temporal.sources"; then return; fi
  need go "https://go.dev/dl"
  mkdir -p "$cache/bin"
  (cd "$module" && nice -n 19 go build -p "${PEX_E2E_JOBS:-2}" -trimpath -ldflags '-s -w' -o "$cache/bin/temporal" .)
  cat "$module"/*.go "$module/go.sum" >"$cache/bin/temporal.sources"
}

prometheus() {
  if [ -x "$cache/prometheus/usr/bin/promtool" ]; then return; fi
  need apt-get "a Debian system, or prometheus and promtool in $cache/prometheus/usr/bin"
  mkdir -p "$cache/prometheus"
  (cd "$cache/prometheus" && apt-get download prometheus && dpkg -x prometheus_*.deb . && rm prometheus_*.deb)
}

clients() {
  need npm "https://nodejs.org"
  local package name
  for package in "$(dirname "$0")"/clients/*/package.json; do
    name=$(basename "$(dirname "$package")")
    if cmp -s "$package" "$cache/clients/$name/installed.json"; then continue; fi
    mkdir -p "$cache/clients/$name"
    cp "$package" "$cache/clients/$name/package.json"
    npm install --prefix "$cache/clients/$name" --no-audit --no-fund --no-package-lock
    cp "$package" "$cache/clients/$name/installed.json"
  done
}

[ $# -gt 0 ] || set -- ollama aimock mcp editors webhooks postgres collector temporal prometheus clients
for part in "$@"; do
  case $part in
    ollama | aimock | mcp | editors | webhooks | postgres | collector | temporal | prometheus | clients) "$part" ;;
    *) echo "setup.sh: unknown part $part; there are ollama, aimock, mcp, editors, webhooks, postgres, collector, temporal, prometheus and clients" >&2; exit 2 ;;
  esac
done
echo "$cache"
