# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/time_bound.c \
	%D%/time_bound.h \
	%D%/timestamp.c \
	%D%/timestamp.h
