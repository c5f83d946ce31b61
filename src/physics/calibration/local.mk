# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/calibration.c \
	%D%/calibration.h \
	%D%/calibration_prior.c \
	%D%/calibration_prior.h \
	%D%/posterior_mode.c \
	%D%/posterior_mode.h \
	%D%/run_information.c \
	%D%/run_information.h \
	%D%/residual_precision.c \
	%D%/residual_precision.h \
	%D%/runs_likelihood.c \
	%D%/runs_likelihood.h
