# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/dcgmi_dmon.c \
	%D%/mlperf_training.c \
	%D%/nvidia_smi.c \
	%D%/nvidia_smi_dmon.c \
	%D%/perf.c \
	%D%/psutil.c \
	%D%/ptdaemon.c \
	%D%/rocm_smi.c \
	%D%/turbostat.c
