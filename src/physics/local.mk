# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/tape.c \
	%D%/tape.h \
	%D%/fit_row.c \
	%D%/fit_row.h \
	%D%/fold_fit.c \
	%D%/fold_fit.h \
	%D%/hierarchical_fit.c \
	%D%/hierarchical_fit.h \
	%D%/hierarchical_problem.c \
	%D%/hierarchical_problem.h \
	%D%/levels.c \
	%D%/levels.h \
	%D%/observations.c \
	%D%/observations.h \
	%D%/physics.h \
	%D%/gpu_clock.c \
	%D%/gpu_clock.h \
	%D%/power_limit.c \
	%D%/power_limit.h \
	%D%/residual_gp.c \
	%D%/residual_gp.h
