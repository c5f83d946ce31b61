# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/calibrate_physical.c \
	%D%/calibrate_physical.h \
	%D%/physical.c \
	%D%/physical.h \
	%D%/physical_fit.c \
	%D%/physical_fit.h \
	%D%/physical_private.h \
	%D%/physical_row.c \
	%D%/posterior.c \
	%D%/residual_gp.c \
	%D%/run_covariance.c \
	%D%/training_cost.c \
	%D%/training_cost.h
