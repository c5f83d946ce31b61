# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/conditioned.c \
	%D%/conditioned.h \
	%D%/lowered_clock.c \
	%D%/lowered_clock.h \
	%D%/known.c \
	%D%/known.h
