# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/busy_spans.c \
	%D%/busy_spans.h \
	%D%/epochs.c \
	%D%/epochs.h \
	%D%/hourly_emissions.c \
	%D%/hourly_emissions.h
