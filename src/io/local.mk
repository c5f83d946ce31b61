# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/csv.c \
	%D%/csv.h \
	%D%/csv_header.c \
	%D%/csv_header.h \
	%D%/csv_parser.c \
	%D%/csv_parser.h \
	%D%/csv_rows.c \
	%D%/csv_rows.h \
	%D%/intensity_hours.c \
	%D%/intensity_hours.h \
	%D%/json_read.c \
	%D%/json_read.h \
	%D%/lines.c \
	%D%/lines.h \
	%D%/same_tables.c \
	%D%/same_tables.h \
	%D%/shard.c \
	%D%/shard.h \
	%D%/xml.c \
	%D%/xml.h
