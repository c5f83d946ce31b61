# SPDX-License-Identifier: GPL-3.0-or-later

libdlest_a_SOURCES += \
	%D%/errors_plot.c \
	%D%/fit_plot.c \
	%D%/gnuplot.c \
	%D%/gnuplot_script.c \
	%D%/gnuplot_script.h \
	%D%/pareto_plot.c \
	%D%/pareto_plot.h \
	%D%/pareto_points.c \
	%D%/parts_plot.c \
	%D%/plot.c \
	%D%/plot.h \
	%D%/plot_kinds.h \
	%D%/plot_labels.c \
	%D%/plot_labels.h \
	%D%/plot_scale.c \
	%D%/plot_scale.h \
	%D%/plot_table.c \
	%D%/plot_table.h \
	%D%/trace_plot.c
