// A shim for a server of the tests: with LD_PRELOAD, each fsync takes SHIM_FSYNC_MS longer, and the time of day is
// SHIM_CLOCK_S seconds ahead and runs SHIM_CLOCK_FASTER percent faster from the start on. Other clocks stay.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long setting(const char *name) {
	const char *value = getenv(name);
	return value ? atol(value) : 0;
}

static const long second = 1000000000L;
static long begun, ahead, faster, later;

static long now(void) {
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return t.tv_sec * second + t.tv_nsec;
}

__attribute__((constructor)) static void begin(void) {
	ahead = setting("SHIM_CLOCK_S") * second;
	faster = setting("SHIM_CLOCK_FASTER");
	later = setting("SHIM_FSYNC_MS");
	begun = now();
}

static long shifted(void) {
	long t = now();
	return t + ahead + (t - begun) / 100 * faster;
}

int clock_gettime(clockid_t id, struct timespec *t) {
	if (id != CLOCK_REALTIME)
		return (int)syscall(SYS_clock_gettime, id, t);
	long at = shifted();
	t->tv_sec = at / second;
	t->tv_nsec = at % second;
	return 0;
}

int gettimeofday(struct timeval *t, void *zone) {
	(void)zone;
	long at = shifted();
	t->tv_sec = at / second;
	t->tv_usec = at % second / 1000;
	return 0;
}

static int slowly(const char *name, int file) {
	struct timespec pause = {later / 1000, later % 1000 * 1000000L};
	nanosleep(&pause, NULL);
	return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return slowly("fsync", file); }
int fdatasync(int file) { return slowly("fdatasync", file); }
