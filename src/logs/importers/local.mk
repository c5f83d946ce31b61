# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/device_columns.c \
	%D%/device_columns.h \
	%D%/device_turns.c \
	%D%/device_turns.h \
	%D%/importer.h \
	%D%/importer_cells.c \
	%D%/importers.c \
	%D%/importers.h \
	%D%/time_bound.c \
	%D%/time_bound.h \
	%D%/unknown_format.c \
	%D%/unknown_format.h
