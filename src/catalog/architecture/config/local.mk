# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/config_experts.c \
	%D%/config_families.c \
	%D%/config_families.h \
	%D%/config_hybrids.c \
	%D%/config_keys.c \
	%D%/config_keys.h \
	%D%/config_rules.c \
	%D%/config_rules.h \
	%D%/config_sam2.c \
	%D%/config_sam2.h \
	%D%/config_towers.c \
	%D%/config_towers.h \
	%D%/config_values.c \
	%D%/config_values.h \
	%D%/from_config.c \
	%D%/from_config.h
