# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/intern.c \
	%D%/intern.h \
	%D%/nearest_names.c \
	%D%/nearest_names.h
