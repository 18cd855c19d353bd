#!/bin/bash
# Makes the three networks that routes are found on. With one thread: two write the same network in another order.
set -euo pipefail
wheel=/srv/map/osrm-wheel/osrm
chmod +x "$wheel"/bin/*
for profile in car bicycle foot; do
    mkdir -p /srv/map/routes/$profile && cd /srv/map/routes/$profile
    cp /srv/map/region/region.osm map.osm
    "$wheel/bin/osrm-extract" --threads 1 --verbosity ERROR --profile "$wheel/share/profiles/$profile.lua" map.osm
    "$wheel/bin/osrm-partition" --threads 1 --verbosity ERROR map.osrm
    "$wheel/bin/osrm-customize" --threads 1 --verbosity ERROR map.osrm
    python3 /srv/map/bake/settle.py map.osrm
    rm map.osm
done
