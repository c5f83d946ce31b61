# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/amd_smi.c \
	%D%/cpu_load.c \
	%D%/cray.c \
	%D%/hwmon.c \
	%D%/hwmon.h \
	%D%/ipmi.c \
	%D%/jetson.c \
	%D%/nvml.c \
	%D%/perf_event.c \
	%D%/powercap.c \
	%D%/sensor_kinds.h \
	%D%/sensors.c \
	%D%/sensors.h \
	%D%/sysfs.c \
	%D%/sysfs.h
