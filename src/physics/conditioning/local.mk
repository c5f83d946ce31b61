# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/joint_prediction.c \
	%D%/joint_prediction.h \
	%D%/gpu_clock.c \
	%D%/gpu_clock.h \
	%D%/gpu_waiting.c \
	%D%/gpu_waiting.h
