#!/bin/sh
# Hands Arena's verdict on. What is unscored has no reward: Harbor counts such a trial as an error.
rm -f /logs/verifier/reward.json /logs/verifier/reward.txt
if [ -f /arena/out/verdict.json ]; then cat /arena/out/verdict.json; echo; fi
if [ ! -s /arena/out/reward.json ]; then
    echo "arena: no reward: the trial could not be scored"
    exit 1
fi
cp /arena/out/reward.json /logs/verifier/reward.json
