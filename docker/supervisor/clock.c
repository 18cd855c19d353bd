/* The site's time, for every process that has this library in LD_PRELOAD and a clock's file in ARENA_CLOCK.
 *
 * The file holds one 64-bit number: how many nanoseconds CLOCK_MONOTONIC is behind the site's time. The supervisor writes it; whoever
 * mapped it reads the new time at once, without a system call more. So one store puts the clock of all processes back, and between two
 * stores it never runs backwards, whatever is done to the host's clock.
 *
 * Deadlines on CLOCK_REALTIME are handed on as the host's, or a wait would end at once or never. Times of files stay the host's.
 * Not covered, as no service uses them: timers and timer descriptors with absolute times, and futexes without the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
/* No deadline of the site's time is as early (2001), and no machine runs for so long: such a one is on CLOCK_MONOTONIC, or is over. */
#define EARLIEST 1000000000

typedef int (*gettime_t)(clockid_t, struct timespec *);

static const _Atomic int64_t nothing;
static const _Atomic int64_t *_Atomic page;
static _Atomic(gettime_t) host_gettime;

/* Also called ahead of this library's own start, by another library's. Twice at once does no harm. */
static const _Atomic int64_t *behind(void) {
    const _Atomic int64_t *known = page;
    if (known)
        return known;
    known = &nothing;
    const char *path = getenv("ARENA_CLOCK");
    if (path) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *known, PROT_READ, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED) {
            dprintf(STDERR_FILENO, "arena clock: %s cannot be read\n", path);
            _exit(127);
        }
        close(file);
        known = mapped;
    }
    host_gettime = (gettime_t)dlsym(RTLD_NEXT, "clock_gettime");
    page = known;
    return known;
}

/* A service that cannot read its clock does not start. */
__attribute__((constructor)) static void start(void) {
    behind();
}

static int64_t count(const struct timespec *moment) {
    return moment->tv_sec * SECOND + moment->tv_nsec;
}

static int64_t host(clockid_t id) {
    struct timespec moment;
    host_gettime(id, &moment);
    return count(&moment);
}

static void set(struct timespec *moment, int64_t nanoseconds) {
    moment->tv_sec = nanoseconds / SECOND;
    moment->tv_nsec = nanoseconds % SECOND;
}

int clock_gettime(clockid_t id, struct timespec *moment) {
    int64_t added = *behind();
    if (!added || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
        return host_gettime(id, moment);
    set(moment, host(id == CLOCK_REALTIME_COARSE ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC) + added);
    return 0;
}

int gettimeofday(struct timeval *restrict moment, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    moment->tv_sec = now.tv_sec;
    moment->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *moment) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (moment)
        *moment = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *moment, int base) {
    if (base != TIME_UTC)
        return 0;
    clock_gettime(CLOCK_REALTIME, moment);
    return base;
}

/* A deadline of the site's time as one of the host's. */
static const struct timespec *on_host(const struct timespec *until, struct timespec *room) {
    int64_t added = *behind();
    if (!added || until->tv_sec < EARLIEST)
        return until;
    set(room, count(until) - (host(CLOCK_MONOTONIC) + added) + host(CLOCK_REALTIME));
    return room;
}

/* The version of a condition's functions that programs are linked with: 2.2.5 had another kind of condition. */
static void *host_function(const char *name) {
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found ? found : dlsym(RTLD_NEXT, name);
}

#define HOST(name) \
    static _Atomic(__typeof__(&name)) kept; \
    __typeof__(&name) call = kept; \
    if (!call) \
        kept = call = (__typeof__(&name))host_function(#name); \
    struct timespec room

int pthread_cond_timedwait(pthread_cond_t *restrict one, pthread_mutex_t *restrict held, const struct timespec *restrict until) {
    HOST(pthread_cond_timedwait);
    return call(one, held, on_host(until, &room));
}

int pthread_cond_clockwait(pthread_cond_t *restrict one, pthread_mutex_t *restrict held, clockid_t id,
                           const struct timespec *restrict until) {
    HOST(pthread_cond_clockwait);
    return call(one, held, id, id == CLOCK_REALTIME ? on_host(until, &room) : until);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict one, const struct timespec *restrict until) {
    HOST(pthread_mutex_timedlock);
    return call(one, on_host(until, &room));
}

int pthread_mutex_clocklock(pthread_mutex_t *restrict one, clockid_t id, const struct timespec *restrict until) {
    HOST(pthread_mutex_clocklock);
    return call(one, id, id == CLOCK_REALTIME ? on_host(until, &room) : until);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict one, const struct timespec *restrict until) {
    HOST(pthread_rwlock_timedrdlock);
    return call(one, on_host(until, &room));
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict one, const struct timespec *restrict until) {
    HOST(pthread_rwlock_timedwrlock);
    return call(one, on_host(until, &room));
}

int sem_timedwait(sem_t *restrict one, const struct timespec *restrict until) {
    HOST(sem_timedwait);
    return call(one, on_host(until, &room));
}

int sem_clockwait(sem_t *restrict one, clockid_t id, const struct timespec *restrict until) {
    HOST(sem_clockwait);
    return call(one, id, id == CLOCK_REALTIME ? on_host(until, &room) : until);
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *until, struct timespec *left) {
    HOST(clock_nanosleep);
    return call(id, flags, id == CLOCK_REALTIME && flags & TIMER_ABSTIME ? on_host(until, &room) : until, left);
}
