# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/estimate_rules.c \
	%D%/estimate_rules.h \
	%D%/unused_settings.c \
	%D%/unused_settings.h
