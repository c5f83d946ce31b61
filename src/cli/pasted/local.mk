# SPDX-License-Identifier: GPL-3.0-or-later

dlest_SOURCES += \
	%D%/file_kinds.c \
	%D%/hub_cache.c \
	%D%/hub_cache.h \
	%D%/implied.c \
	%D%/launcher.c \
	%D%/network_names.c \
	%D%/pasted.c \
	%D%/pasted.h \
	%D%/pasted_names.c \
	%D%/pasted_private.h \
	%D%/pasted_regions.c \
	%D%/plain_words.c \
	%D%/settings.c \
	%D%/settings_file.c \
	%D%/settings_script.c \
	%D%/tool_words.c \
	%D%/tool_words.def
