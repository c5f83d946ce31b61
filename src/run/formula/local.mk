# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/descriptor_filter.c \
	%D%/descriptor_filter.h \
	%D%/formula.c \
	%D%/formula.h
