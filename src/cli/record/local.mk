# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/record_answer.c \
	%D%/record_answer.h \
	%D%/record_estimate.c \
	%D%/record_estimate.h \
	%D%/record_files.c \
	%D%/record_files.h \
	%D%/record_hours.c \
	%D%/record_hours.h \
	%D%/record_job.c \
	%D%/record_job.h \
	%D%/record_live.c \
	%D%/record_live.h \
	%D%/record_page.c \
	%D%/record_page.h \
	%D%/record_report.c \
	%D%/record_report.h \
	%D%/record_sensors.c \
	%D%/record_sensors.h
