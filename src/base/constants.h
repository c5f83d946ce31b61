/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units and physical constants, each defined once, with its source. */

#ifndef DL_BASE_CONSTANTS_H
#define DL_BASE_CONSTANTS_H

/* Units in SI: joules, seconds, bytes. */
#define DL_J_PER_WH 3600.0
#define DL_J_PER_KWH 3.6e6
#define DL_S_PER_HOUR 3600.0
#define DL_S_PER_DAY 86400.0
#define DL_S_PER_YEAR (365.25 * DL_S_PER_DAY) /* Julian year */
#define DL_BYTES_PER_MIB 1048576.0
#define DL_BYTES_PER_GIB 1073741824.0

/* Power of main memory, W per GB installed: Green Algorithms (Lannelongue et
 * al. 2021, doi 10.1002/advs.202100707). */
#define DL_MEMORY_W_PER_GB 0.3725

/* Power of main memory, W per MB that a process uses: del Rey et al. 2024
 * (arXiv 2307.05520). */
#define DL_MEMORY_W_PER_MB_USED 3.75e-4

/* Power of main memory within the boundary gpu+ram, W. In the runs of del Rey
 * et al. 2024 processes of 6 to 13 GB at the value above take 2.5 to 5 W: their
 * energies hold 3.7 W on average, and the physical fit adds 5 W. */
#define DL_RUN_MEMORY_W 3.7
#define DL_PHYSICAL_MEMORY_W 5

/* Fast convolutions (Winograd, 2 x 2 outputs of a 3 x 3 filter) need so many
 * times fewer multiplications: Lavin and Gray 2016, arXiv 1509.09308. */
#define DL_FAST_CONVOLUTION 2.25

/* Accelerators idle at about this share of their TDP at least: those whose idle
 * power the catalogue has take 4 % and more. */
#define DL_LEAST_IDLE_SHARE 0.05

/* Mean power of GPUs by their limit, at most: boards exceed it for moments, and
 * meters are off. */
#define DL_MOST_OF_LIMIT 1.25

/* Line rate of PCIe 3.0 x16 in one direction, GB/s, as the catalogue gives it:
 * 8 GT/s x 16 lanes x 128/130 (PCI Express Base Specification 3.0), assumed
 * where the link between accelerators is unknown. */
#define DL_PCIE_3_X16_GB_S 15.8

#endif
