# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/character_widths.def \
	%D%/format.h \
	%D%/render.c \
	%D%/render.h \
	%D%/report.c \
	%D%/report.h \
	%D%/report_tree.h \
	%D%/screen.c \
	%D%/screen.h \
	%D%/units.c \
	%D%/units.h
