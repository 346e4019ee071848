/*
 * Loaded into a service before libc (LD_PRELOAD): how long each of its threads waits inside SQLite, for mutexes, for locks of files, and asleep
 * because of them. LOCK_CODE has where SQLite's code begins and ends in the program, LOCK_WAITS the file that is written: of each thread its
 * number, then nanoseconds and times of each of the three.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { mutexes, files, sleeps, kinds };
struct slot { int64_t thread, waits[kinds][2]; };
enum { most = 256 };
static struct slot *slots;
static uintptr_t begin, end;
static __thread struct slot *own;
static int used;

static int (*lock)(pthread_mutex_t *);
static int (*control)(int, int, ...);
static int (*nap)(useconds_t);

static int find_program(struct dl_phdr_info *info, size_t size, void *base) {
  *(uintptr_t *)base = info->dlpi_addr;
  return 1; /* The program itself comes first. */
}

__attribute__((constructor)) static void prepare(void) {
  lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  control = dlsym(RTLD_NEXT, "fcntl64");
  nap = dlsym(RTLD_NEXT, "usleep");
  const char *code = getenv("LOCK_CODE"), *file = getenv("LOCK_WAITS");
  uintptr_t base = 0, first, last;
  if (!code || !file || sscanf(code, "%lx-%lx", &first, &last) != 2) return;
  dl_iterate_phdr(find_program, &base);
  int descriptor = open(file, O_RDWR | O_CREAT, 0600);
  if (descriptor < 0 || ftruncate(descriptor, most * sizeof(struct slot)) != 0) return;
  slots = mmap(NULL, most * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  begin = base + first;
  end = base + last;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int is_sqlite(void *caller) { return (uintptr_t)caller >= begin && (uintptr_t)caller < end; }

static void add(int kind, int64_t since) {
  if (!own) {
    own = &slots[__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED) % most];
    own->thread = syscall(SYS_gettid);
  }
  own->waits[kind][0] += now() - since;
  own->waits[kind][1]++;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (!is_sqlite(__builtin_return_address(0))) return lock(mutex);
  if (pthread_mutex_trylock(mutex) == 0) return 0;
  int64_t since = now();
  int result = lock(mutex);
  add(mutexes, since);
  return result;
}

int fcntl64(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (command != F_SETLK || !is_sqlite(__builtin_return_address(0)))
    return control(descriptor, command, argument);
  int64_t since = now();
  int result = control(descriptor, command, argument), error = errno;
  add(files, since);
  errno = error;
  return result;
}

int fcntl(int descriptor, int command, ...) __attribute__((alias("fcntl64")));

int usleep(useconds_t time) {
  if (!is_sqlite(__builtin_return_address(0))) return nap(time);
  int64_t since = now();
  int result = nap(time);
  add(sleeps, since);
  return result;
}
