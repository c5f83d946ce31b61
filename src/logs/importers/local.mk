# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/importer.h \
	%D%/importer_cells.c \
	%D%/importers.c \
	%D%/importers.h
