#include "launch.h"

#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef YOKE_WITH_MPI
#include <mpi.h>
#include <unistd.h>
#endif

/* How launchers tell a process that there are others: names of number and rank. Those of Slurm stand in the environment of its batch scripts, too; a step is one process of srun. */
static const struct {
  const char *size, *rank, *needs;
} signs[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL},
    {"PMI_SIZE", "PMI_RANK", NULL},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", NULL},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_ID"},
};

static int number(const char *name) {
  const char *text = getenv(name);
  return text != NULL ? (int)strtol(text, NULL, 10) : 0;
}

/* Processes that were started together; *rank is that of this one. */
static int count_started(int *rank) {
  *rank = 0;
  for (size_t i = 0; i < sizeof signs / sizeof *signs; ++i) {
    const int n = number(signs[i].size);
    if (n <= 1 || (signs[i].needs != NULL && getenv(signs[i].needs) == NULL)) continue;
    *rank = number(signs[i].rank);
    return n;
  }
  return 1;
}

/* Only one of them says so. */
static int refuse(int n, int rank, const char *remedy) {
  if (rank == 0)
    fprintf(
        stderr,
        "error: a launcher started %d processes that cannot work together; they would all do the same and write the "
        "same files: %s\n",
        n, remedy);
  return EXIT_CODE_USAGE;
}

/* Processors that this process may use; 0: not known. */
static int count_processors(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/* Other ranks cannot say anything. */
static void warn_of_threads(int asked) {
  const int n = count_processors();
  if (n > 0 && asked > n)
    fprintf(stderr,
            "warning: --threads %d, but this process may use %d processor%s only, where threads take turns; bind it to "
            "more (taskset; srun --cpus-per-task, mpirun --map-by), or ask for fewer\n",
            asked, n, n > 1 ? "s" : "");
}

#ifdef YOKE_WITH_MPI

static bool gather(void *user, const void *own, size_t bytes, void *all) {
  (void)user;
  if (own == NULL) MPI_Abort(MPI_COMM_WORLD, EXIT_CODE_IO);
  if (bytes > INT_MAX) return false;
  return MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD) == MPI_SUCCESS;
}

static bool deliver(void *user, int to, void *bytes, size_t size) {
  const int length = (int)size; /* of a piece */
  (void)user;
  if (size > INT_MAX) return false;
  if (launch_rank() == 0) return MPI_Send(bytes, length, MPI_BYTE, to, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
  return MPI_Recv(bytes, length, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static bool is_running(void) {
  int is_begun = 0, is_ended = 0;
  MPI_Initialized(&is_begun);
  MPI_Finalized(&is_ended);
  return is_begun && !is_ended;
}

/* FNV-1a of all arguments, their ends included; the name of the program may differ. */
static uint64_t checksum(int argc, char **argv) {
  uint64_t sum = 14695981039346656037u;
  for (int i = 1; i < argc; ++i) {
    for (const char *at = argv[i];; ++at) {
      sum = (sum ^ (unsigned char)*at) * 1099511628211u;
      if (*at == '\0') break;
    }
  }
  return sum;
}

/* First rank whose arguments are not those of rank 0; 0: none. Ranks with different commands or options would wait for each other for ever. */
static int find_other_arguments(int argc, char **argv, int n) {
  uint64_t  own   = checksum(argc, argv);
  uint64_t *all   = calloc((size_t)n, sizeof *all);
  int       other = 0;
  if (all == NULL) MPI_Abort(MPI_COMM_WORLD, EXIT_CODE_IO);
  MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  for (int r = n - 1; all != NULL && r > 0; --r) {
    if (all[r] != all[0]) other = r;
  }
  free(all);
  return other;
}

int launch_begin(int argc, char **argv) {
  int       rank, size, level;
  const int n = count_started(&rank);
  if (n == 1) return PARSE_DONE;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
    return refuse(n, rank, "MPI cannot be started");
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) {
    MPI_Finalize();
    return refuse(n, rank,
                  "they do not see each other; start them with the mpirun of the MPI that yoke was built with, or with "
                  "srun --mpi=pmix (docs/cluster.md)");
  }
  if (launch_rank() > 0 && (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL))
    MPI_Abort(MPI_COMM_WORLD, EXIT_CODE_IO);
  const int other = find_other_arguments(argc, argv, size);
  if (other == 0) return PARSE_DONE;
  fprintf(stderr, "error: rank %d was started with other arguments than rank 0; give all ranks the same\n", other);
  return EXIT_CODE_USAGE;
}

int launch_rank(void) {
  int rank = 0;
  if (is_running()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int launch_end(int code) {
  const int rank = launch_rank();
  if (is_running()) MPI_Finalize();
  return rank == 0 ? code : EXIT_CODE_DONE;
}

int launch_threads(int asked) {
  const long n_online = sysconf(_SC_NPROCESSORS_ONLN);
  int        n_here   = 1;
  MPI_Comm   here;
  warn_of_threads(asked);
  if (asked != 0 || !is_running()) return asked;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &n_here);
  MPI_Comm_free(&here);
  if (count_processors() < n_online) return asked; /* bound */
  return n_here < n_online ? (int)n_online / n_here : 1;
}

yoke_status launch_join(yoke_context *ctx, bool allow_mixed) {
  yoke_ranks ranks = {
      .size = sizeof ranks, .n_ranks = 1, .gather = gather, .allow_mixed = allow_mixed, .deliver = deliver};
  if (is_running()) {
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.n_ranks);
  }
  return yoke_context_set_ranks(ctx, &ranks);
}

#else

int launch_begin(int argc, char **argv) {
  (void)argc, (void)argv;
  int       rank;
  const int n = count_started(&rank);
  return n == 1
             ? PARSE_DONE
             : refuse(n, rank, "this yoke was built without MPI; start it once, or build it with -DYOKE_WITH_MPI=ON");
}

int launch_rank(void) {
  return 0;
}

int launch_end(int code) {
  return code;
}

int launch_threads(int asked) {
  warn_of_threads(asked);
  return asked;
}

yoke_status launch_join(yoke_context *ctx, bool allow_mixed) {
  (void)ctx;
  (void)allow_mixed;
  return YOKE_OK;
}

#endif
