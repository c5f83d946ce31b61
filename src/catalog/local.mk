# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/catalog.c \
	%D%/catalog.h \
	%D%/catalog_file.c \
	%D%/catalog_file.h \
	%D%/catalog_scan.c \
	%D%/catalog_scan.h \
	%D%/datadir.c \
	%D%/datadir.h \
	%D%/descriptor.c \
	%D%/descriptor.h \
	%D%/descriptor_fields.c \
	%D%/descriptor_fields_body.h \
	%D%/descriptor_kinds.h \
	%D%/mig.c \
	%D%/mig.h \
	%D%/processors.h \
	%D%/sample_kinds.c \
	%D%/sample_kinds.h \
	%D%/user_files.c \
	%D%/user_files.h
