"""What a device can do: profiles as data, and the layout arithmetic of devices that tile their memory."""
