# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/count_text.c \
	%D%/count_text.h \
	%D%/hours_options.c \
	%D%/hours_options.h \
	%D%/input_options.c \
	%D%/input_options.h \
	%D%/job_apply.c \
	%D%/job_options.c \
	%D%/job_options.h \
	%D%/node_options.c \
	%D%/node_options.h \
	%D%/option.c \
	%D%/option.h \
	%D%/known_options.c \
	%D%/known_options.h \
	%D%/site_options.c \
	%D%/site_options.h
