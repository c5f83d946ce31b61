# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/training_setup.c \
	%D%/training_setup.h
