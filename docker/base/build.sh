#!/usr/bin/env bash
# Build debian:bookworm-slim (or another release's) from a Debian mirror, for machines that reach no image registry.
#
# usage: build.sh [TAG]        needs root, debootstrap and a running Docker engine; build.sh debian:trixie-slim
# ARENA_DEBIAN_MIRROR names another mirror; the default is deb.debian.org.
set -euo pipefail

tag=${1:-debian:bookworm-slim}
case $tag in *trixie*) suite=trixie ;; *) suite=bookworm ;; esac
mirror=${ARENA_DEBIAN_MIRROR:-http://deb.debian.org/debian}

for need in debootstrap docker tar; do
    command -v "$need" >/dev/null || { echo "base: '$need' is missing: apt-get install $need" >&2; exit 4; }
done
[ "$(id -u)" = 0 ] || { echo "base: debootstrap needs root: sudo $0" >&2; exit 4; }

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

echo "base: debootstrap $suite from $mirror" >&2
log=$root.log
if ! debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >"$log" 2>&1; then
    echo "base: debootstrap failed; its last lines:" >&2
    tail -n 15 "$log" >&2
    rm -f "$log"
    exit 5
fi
rm -f "$log"

cat >"$root/etc/apt/sources.list" <<LIST
deb $mirror $suite main
deb $mirror $suite-updates main
LIST
# No service may start while packages are installed into an image.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 0755 "$root/usr/sbin/policy-rc.d"
# What the official slim image leaves out too: manuals, documentation, translations.
cat >"$root/etc/dpkg/dpkg.cfg.d/slim" <<SLIM
path-exclude /usr/share/doc/*
path-exclude /usr/share/man/*
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-include /usr/share/locale/locale.alias
path-exclude /usr/share/lintian/*
SLIM
rm -rf "$root"/usr/share/{doc,man,info,lintian}/* "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
find "$root/usr/share/locale" -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} +

tar -C "$root" --numeric-owner --exclude=./dev/* -c . |
    docker import --change 'CMD ["bash"]' --message 'debootstrap minbase' - "$tag" >/dev/null
echo "base: $tag is ready" >&2
