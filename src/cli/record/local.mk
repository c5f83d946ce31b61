# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/record_live.c \
	%D%/record_live.h \
	%D%/record_report.c \
	%D%/record_report.h
