# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/findings.c \
	%D%/findings.h \
	%D%/generations.c \
	%D%/generations.h \
	%D%/rule_checks.c \
	%D%/rules.c \
	%D%/rules.h \
	%D%/rules_accelerator.c \
	%D%/rules_private.h
