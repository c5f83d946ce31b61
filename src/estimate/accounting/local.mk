# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/accounting.c \
	%D%/accounting.h \
	%D%/core_power.c \
	%D%/core_power.h \
	%D%/group_totals.c \
	%D%/group_totals.h \
	%D%/totals_file.c \
	%D%/totals_file.h
