# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/quantities.c \
	%D%/quantities.def \
	%D%/quantities.h
