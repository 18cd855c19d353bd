#!/bin/sh
# Lets the oracle play: the solution stays with Arena (arena serve --references).
exec python3 - <<'SOLVE'
import http.client, json, os

relay = http.client.HTTPConnection("arena", 8000, timeout=900)
token = {"Authorization": "Bearer " + os.environ["ARENA_TOKEN"]}
relay.request("POST", "/reference", json.dumps({"observe": $observe}), token)
answer = relay.getresponse()
print(answer.status, answer.read().decode())
raise SystemExit(answer.status != 200)
SOLVE
