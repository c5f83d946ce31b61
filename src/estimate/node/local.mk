# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/activations.c \
	%D%/activations.h \
	%D%/division.c \
	%D%/division.h \
	%D%/division_batches.c \
	%D%/division_private.h \
	%D%/memory_remedy.c \
	%D%/memory_remedy.h \
	%D%/node.c \
	%D%/node.h \
	%D%/parallel.c \
	%D%/parallel.h \
	%D%/peak_memory.c \
	%D%/peak_memory.h \
	%D%/serving_groups.c \
	%D%/serving_groups.h
