#!/bin/sh
# Two pipelines from YAML alone, in a Hayhooks that runs already (`hayhooks run`), and one question to them.
set -eu
handbook=$(cd "$(dirname "$0")/../existing_app/handbook" && pwd)
hayhooks=http://${HAYHOOKS_HOST:-127.0.0.1}:${HAYHOOKS_PORT:-1416}
json='Content-Type: application/json'

for name in indexing corrective_retrieval; do
  crag pipelines export "$name" --output "$name.yml"
  hayhooks pipeline deploy-yaml --overwrite "$name.yml"
done

# Both name the in-memory store "crag", which all pipelines of a process share. The paths are those of the server.
curl -sS --fail "$hayhooks/indexing/run" -H "$json" \
  -d "{\"sources\": [\"$handbook/refunds.md\", \"$handbook/returns.md\", \"$handbook/warranty.md\"]}"
echo
curl -sS --fail "$hayhooks/corrective_retrieval/run" -H "$json" -d '{"query": "When is a refund paid?"}'
echo
