#!/usr/bin/env bash
# Install and start what Arena needs: a Docker engine, Chromium with its headless shell, Python's venv, the base image.
#
# usage: bootstrap.sh [--check]
# On Debian or Ubuntu as root it installs only what is missing; elsewhere it says what to install
# and exits 3. --check only reports. Messages go to stderr.
set -euo pipefail

readonly BASE_IMAGE=debian:bookworm-slim
readonly ENGINE_LOG=/var/log/arena-dockerd.log
readonly ENGINE_WAIT_S=60
readonly PULL_WAIT_S=20
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
check_only=${1:-}

say() { printf 'bootstrap: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
engine_answers() { have docker && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }
have_base() { docker image inspect "$BASE_IMAGE" >/dev/null 2>&1; }

# What Playwright or the user brought counts as well as Debian's package.
have_chromium() {
    [ -n "${ARENA_CHROMIUM:-}" ] || have chromium || have chromium-browser || have google-chrome ||
        compgen -G "${PLAYWRIGHT_BROWSERS_PATH:-$HOME/.cache/ms-playwright}/chromium-*" >/dev/null
}

missing_packages() {
    engine_answers || have dockerd || echo docker.io
    engine_answers || have iptables || echo iptables
    have_chromium || echo chromium
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || echo python3-venv
}

install_packages() {
    say "installing $*"
    local log
    log=$(mktemp)
    if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y \
        --no-install-recommends "$@"; } >"$log" 2>&1; then
        say "apt-get failed; its last lines:"
        tail -n 15 "$log" >&2
        exit 5
    fi
    rm -f "$log"
}

# A killed engine leaves files that name its processes; where the number belongs to another process
# by now, the next engine would believe the old one still runs.
forget_dead_engine() {
    local file name
    for file in /var/run/docker.pid:dockerd /run/docker/containerd/containerd.pid:containerd; do
        name=${file##*:} file=${file%:*}
        if [ -f "$file" ] && [ "$(cat "/proc/$(cat "$file")/comm" 2>/dev/null)" != "$name" ]; then
            rm -f "$file"
        fi
    done
}

start_engine() {
    if [ -d /run/systemd/system ] && systemctl start docker >/dev/null 2>&1; then
        say "started the Docker engine (systemd)"
    else
        say "no service manager runs here: starting dockerd, log in $ENGINE_LOG"
        forget_dead_engine
        setsid nohup dockerd >"$ENGINE_LOG" 2>&1 </dev/null &
    fi
    local deadline=$((SECONDS + ENGINE_WAIT_S))
    until engine_answers; do
        if [ "$SECONDS" -ge "$deadline" ]; then
            say "the Docker engine did not answer within $ENGINE_WAIT_S s; its last lines:"
            tail -n 15 "$ENGINE_LOG" >&2 || true
            exit 6
        fi
        sleep 0.2 # back-off between tries: the engine tells nobody when its socket is ready
    done
}

provide_base() {
    say "$BASE_IMAGE is missing: asking a registry"
    if timeout "$PULL_WAIT_S" docker pull --quiet "$BASE_IMAGE" >/dev/null 2>&1; then
        return
    fi
    say "no registry answers: building it with debootstrap"
    have debootstrap || install_packages debootstrap
    "$here/base/build.sh" "$BASE_IMAGE"
}

# Runs without a window are faster with it. Not every release has it, and nothing fails without it.
provide_shell() {
    local shell=chromium-headless-shell
    if have chromium && ! have "$shell" && can_install && apt-cache show "$shell" >/dev/null 2>&1; then
        (install_packages "$shell") || say "going on without $shell"
    fi
}

can_install() { have apt-get && [ "$(id -u)" = 0 ]; }

mapfile -t missing < <(missing_packages)
if [ "$check_only" = --check ]; then
    [ ${#missing[@]} -eq 0 ] || say "missing: ${missing[*]}"
    engine_answers || say "no Docker engine answers"
    if [ ${#missing[@]} -gt 0 ] || ! engine_answers; then exit 3; fi
    have_base || { say "missing: image $BASE_IMAGE"; exit 3; }
    say "all is there"
    exit 0
fi
if [ ${#missing[@]} -gt 0 ]; then
    if ! can_install; then
        say "this is not Debian or Ubuntu as root, so nothing was installed. Please install: a Docker"
        say "engine (https://docs.docker.com/engine/install), Chromium, and Python 3.11 with venv."
        say "missing here: ${missing[*]} (names of Debian packages)"
        exit 3
    fi
    install_packages "${missing[@]}"
fi
if ! engine_answers; then
    if [ "$(id -u)" != 0 ]; then
        say "no Docker engine answers; start it, or give this user access: usermod -aG docker $USER"
        exit 3
    fi
    start_engine
fi
have_base || provide_base
provide_shell
