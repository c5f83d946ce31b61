# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/command.h \
	%D%/command_help.c \
	%D%/command_line.c \
	%D%/command_line.h \
	%D%/commands.c \
	%D%/common_options.c \
	%D%/main.c \
	%D%/progress_bar.c \
	%D%/progress_bar.h \
	%D%/spool.c \
	%D%/spool.h \
	%D%/version.c \
	%D%/version.h
