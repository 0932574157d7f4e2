/* SPDX-License-Identifier: Apache-2.0 */
/* Probes /dev/kfd. */
#include "kfd.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kfd[] = "/dev/kfd";

static void describe_permission(char *text, size_t bytes) {
  struct stat file;
  struct group entry, *group = NULL;
  char buffer[4096];
  if (stat(kfd, &file) == 0) (void)getgrgid_r(file.st_gid, &entry, buffer, sizeof buffer, &group);
  snprintf(text, bytes, "%s may not be opened by this user (%s): add it to the group %s, and log in anew", kfd, strerror(EACCES),
      group ? group->gr_name : "that owns the file (render)");
}

void kfd_describe(char *text, size_t bytes) {
  int file = open(kfd, O_RDWR | O_CLOEXEC);
  int why = errno;
  if (file >= 0) {
    close(file);
    snprintf(text, bytes, "%s can be opened", kfd);
  } else if (why == ENOENT) {
    snprintf(text, bytes, "there is no %s: load the amdgpu driver, or give the container --device %s --device /dev/dri", kfd, kfd);
  } else if (why == EACCES || why == EPERM) {
    describe_permission(text, bytes);
  } else {
    snprintf(text, bytes, "%s cannot be opened: %s", kfd, strerror(why));
  }
}
