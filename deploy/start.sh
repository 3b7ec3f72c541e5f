#!/bin/sh
# How docker-compose.yml starts the app: nobody has to think of an API key first, and none is the same on two machines.
# The first start makes one; keys of your own come as CRAG_SERVE_API_KEYS, or as lines of this file.
set -eu
if [ -z "${CRAG_SERVE_API_KEYS:-}" ]; then
    unset CRAG_SERVE_API_KEYS
    : "${CRAG_SERVE_API_KEYS_FILE:?must name the file of API keys, one a line}"
    export CRAG_SERVE_API_KEYS_FILE
    umask 077
    [ -s "$CRAG_SERVE_API_KEYS_FILE" ] || python -c 'import secrets; print(secrets.token_urlsafe(32))' >"$CRAG_SERVE_API_KEYS_FILE"
else
    unset CRAG_SERVE_API_KEYS_FILE
fi
exec crag "$@"
