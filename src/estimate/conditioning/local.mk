# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/conditioned.c \
	%D%/conditioned.h \
	%D%/known.c \
	%D%/known.h
