#!/bin/sh
# Records ../data again: a real nginx in front of shop.go, one minute of load, one
# real fault. Needs nginx, go and the loopback ports 18080 to 18082. The new logs have
# new times and counts, so ../replies.yaml no longer fits them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
children=""
stop() { kill $children 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"; }
trap stop EXIT
trap 'exit 1' INT TERM
export TZ=UTC

for part in shop store load; do go build -o "$work/$part" "$here/$part.go"; done
cp "$here/nginx.conf" "$work/"
cd "$work"

changed() { echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $*" >>changes.log; }
config() { echo "{\"rev\": $1, \"reports.skip_empty\": $2}" >shop.json; }
start_shop() { ./shop >>shop.jsonl & shop=$!; children="$children $shop"; }

./store & children="$children $!"
sleep 0.5
config 41 false
start_shop
sleep 0.5
nginx -p "$work" -e error.log -c nginx.conf & web=$!; children="$children $web"
sleep 0.5
changed "deploy-bot shop release 4.8.0 running with config rev 41, pool size 12"

./load -for 58s -import-at 33s & load=$!; children="$children $load"
sleep 9
sed -i 's/keepalive 16/keepalive 32/' nginx.conf
kill -HUP "$web"
changed "mira nginx upstream keepalive 16 -> 32, reloaded"
sleep 6
config 42 true
kill -HUP "$shop"
changed "deploy-bot shop config rev 42 applied by reload: reports.skip_empty false -> true"
sleep 18
changed "cron price import started, 60 items past the cache"
sleep 13
kill "$shop"
changed "oncall shop stopped for a restart after checkout alerts"
sleep 1
start_shop
changed "oncall shop started again, release 4.8.0, config rev 42"
wait "$load"
sleep 2.5

cp access.jsonl error.log shop.jsonl changes.log "$here/../data/"
wc -lc "$here"/../data/*
