# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/calibration_table.c \
	%D%/calibration_table.h \
	%D%/suggest.c \
	%D%/suggest.h \
	%D%/suggest_report.c \
	%D%/suggest_report.h \
	%D%/loader_held.c \
	%D%/loader_held.h
