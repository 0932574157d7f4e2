/* SPDX-License-Identifier: Apache-2.0 */
/* A HIP library of before 6.0: it has the functions of libfront's list up to the first that came later. */
int hipGetDeviceCount(int *count);
int hipGetDevice(int *device);
int hipDeviceGetAttribute(int *value, unsigned attribute, int device);

int hipGetDeviceCount(int *count) { return *count = 0; }
int hipGetDevice(int *device) { return *device = 0; }
int hipDeviceGetAttribute(int *value, unsigned attribute, int device) { return *value = (int)attribute * device; }
