# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/means_input.c \
	%D%/means_input.h \
	%D%/means_table.c \
	%D%/means_table.h \
	%D%/replicates.c \
	%D%/replicates.h
