#!/bin/bash
# Makes the three networks that routes are found on.
set -euo pipefail
wheel=/srv/map/osrm-wheel/osrm
chmod +x "$wheel"/bin/*
for profile in car bicycle foot; do
    mkdir -p /srv/map/routes/$profile && cd /srv/map/routes/$profile
    cp /srv/map/region/region.osm map.osm
    "$wheel/bin/osrm-extract" --threads 2 --verbosity WARNING --profile "$wheel/share/profiles/$profile.lua" map.osm
    "$wheel/bin/osrm-contract" --threads 2 --verbosity WARNING map.osrm
    rm map.osm
done
