"""User-item data sets: raw files to one data set file of the task `rec`."""
