# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/cluster_job.c \
	%D%/cluster_job.h \
	%D%/held_jobs.c \
	%D%/held_jobs.h \
	%D%/job_energy.c \
	%D%/job_energy.h \
	%D%/job_fault.c \
	%D%/job_fault.h \
	%D%/node_times.c \
	%D%/node_times.h \
	%D%/sacct.c \
	%D%/sacct_json.c \
	%D%/sacct_json.h \
	%D%/settle_jobs.c \
	%D%/settle_jobs.h \
	%D%/slurm.c \
	%D%/slurm.h \
	%D%/slurm_usage.c \
	%D%/sstat.c
