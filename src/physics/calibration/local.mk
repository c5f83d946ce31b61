# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/calibration.c \
	%D%/calibration.h \
	%D%/calibration_prior.c \
	%D%/calibration_prior.h
