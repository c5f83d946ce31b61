# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/fine_tune.c \
	%D%/fine_tune.h \
	%D%/job_rules.c \
	%D%/job_rules.h \
	%D%/option_words.c \
	%D%/option_words.h \
	%D%/padding.c \
	%D%/padding.h \
	%D%/serving_setup.c \
	%D%/serving_setup.h \
	%D%/training_setup.c \
	%D%/training_setup.h
